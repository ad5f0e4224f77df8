"""What the HMM is compared with: word models, longest common runs, Cut & Paste, and other programs."""
