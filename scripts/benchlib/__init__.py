"""Side-by-side runs of netbench, other tools and minimal C loops: the engine of bench-peers."""
