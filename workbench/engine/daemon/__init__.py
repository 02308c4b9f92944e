"""The process that looks after one workspace by itself: it adopts, indexes, keeps scores and reflects in time."""
