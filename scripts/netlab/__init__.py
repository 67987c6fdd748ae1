"""Two hosts in network namespaces on one machine: the engine of scripts/testbed."""
