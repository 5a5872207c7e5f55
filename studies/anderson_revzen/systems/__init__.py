"""Systems of Anderson and Revzen."""
