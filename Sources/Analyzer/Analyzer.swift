// Analyzer
