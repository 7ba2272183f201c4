// Differences of measurable values: days between dates, kilometres between locations.

const day_ms = 86_400_000

/** Parses `yyyymmdd` to days since 1970; NaN for an invalid or partial date. */
export function parseDays(date: string): number {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(date) ?? []
  if (year === undefined) return Number.NaN
  const at = new Date(0)
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  const isReal = at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day)
  return isReal ? at.getTime() / day_ms : Number.NaN
}

/** Parses `latitude,longitude` in degrees to radians. */
export function parseLocation(text: string): readonly [latitude: number, longitude: number] {
  const [latitude = Number.NaN, longitude = Number.NaN] = text.split(',').map((part) => (Number(part) * Math.PI) / 180)
  return [latitude, longitude]
}

/** Mean radius of the Earth (IUGG). */
const earth_radius_km = 6_371.0088

/**
 * Computes the great-circle distance of locations in radians, by the haversine formula (Sinnott, "Virtues of the
 * Haversine", 1984).
 */
export function computeDistance_km(latitude: number, longitude: number, other: number, otherLongitude: number): number {
  const across = Math.sin((other - latitude) / 2)
  const along = Math.sin((otherLongitude - longitude) / 2)
  const square = across * across + Math.cos(latitude) * Math.cos(other) * along * along
  return 2 * earth_radius_km * Math.asin(Math.min(1, Math.sqrt(square)))
}
