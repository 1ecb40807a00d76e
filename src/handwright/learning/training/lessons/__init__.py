"""What is taught: motions as features and targets, and the states that networks are asked at."""
