"""What users do: anonymize and publish, check a folder again, compare, suggest, try samples."""
