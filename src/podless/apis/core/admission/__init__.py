"""The admission plugins of the core group."""
