"""The phrase-based HMM of Daumé and Marcu 2004: settings, parameters, exact inference, EM, decoding."""
