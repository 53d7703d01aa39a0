"""Pools of engines, on this machine or over a Ray cluster."""
