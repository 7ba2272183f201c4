// The length of a day, for settings that count days.

export const day_ms = 86_400_000
