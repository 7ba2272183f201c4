// The name of a coordinate reference system by its definition in well-known text (OGC 01-009, ISO 19162), as a .prj has it.

const max_name_characters = 128
/** Longitude and latitude of WGS 84 by its names in such texts. */
const wgs84 = /^(?:GCS_WGS_1984|WGS[ _]?(?:19)?84)$/i
const wgs84_code = 'EPSG:4326'

/**
 * `EPSG:25832` where the text has the code, otherwise the name of the system; undefined for longitude and latitude of WGS 84, and for
 * a text that names none.
 */
export function readSrsName(definition: string): string | undefined {
  const [, kind, name] = /^\s*([A-Za-z]+)\s*[[(]\s*"([^"]*)"/.exec(definition) ?? []
  if (kind === undefined || name === undefined || name === '') return undefined
  // The authority of the whole system is the last member.
  const [, authority, code] =
    /(?:AUTHORITY|ID)\[ ?"([A-Za-z]{1,16})" ?, ?"?(\d{1,8})"? ?\] ?[\])]\s*$/i.exec(definition) ?? []
  const isGeographic = /^GEOG/i.test(kind)
  if (authority !== undefined) {
    const system = `${authority.toUpperCase()}:${code}`
    return system === wgs84_code ? undefined : system
  }
  return isGeographic && wgs84.test(name) ? undefined : name.slice(0, max_name_characters)
}
