"""ρ-uncertainty: what known items reveal."""
