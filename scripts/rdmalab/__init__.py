"""Virtual machines with their own kernel, as pairs of hosts: what scripts/rdma-lab is made of."""
