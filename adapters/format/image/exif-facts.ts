// Facts that a camera or a program states about an image, in the tags of EXIF.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ByteWindow } from './byte-window.ts'
import type { ImageFacts } from './image-facts.ts'
import { type TiffDirectory, TiffFile } from './tiff-directory.ts'

const tags = {
  ...{ description: 270, make: 271, model: 272, orientation: 274, software: 305, changed: 306, artist: 315 },
  ...{ copyright: 33_432, exif: 34_665, gps: 34_853 },
  ...{ taken: 36_867, offset: 36_881, lens: 42_036, thumbnailStart: 513, thumbnailLength: 514 },
} as const
const gpsTags = { south: 1, latitude: 2, west: 3, longitude: 4, belowSea: 5, altitude: 6 } as const

/**
 * Of several blocks of a file the first one counts. `start`: of the block in the file. A block that is damaged states nothing, as image programs treat it: the image itself can be sound. Throws what the file throws.
 */
export function readExif(file: ByteWindow, start: number, length: number): ImageFacts {
  try {
    const [main, thumbnail] = new TiffFile(file.part(start, length)).directories()
    return main ? { ...factsOfDirectory(main), ...findThumbnail(file, thumbnail, start, length) } : {}
  } catch (error) {
    if (error instanceof DataFault) return {}
    throw error
  }
}

/** Throws `DataFault` where a part that the tags name is damaged. */
export function factsOfDirectory(main: TiffDirectory): ImageFacts {
  const [exifAt, gpsAt] = [main.integer(tags.exif), main.integer(tags.gps)]
  const exif = exifAt === undefined ? undefined : main.file.directoryAt(exifAt)
  const gps = gpsAt === undefined ? undefined : main.file.directoryAt(gpsAt)
  const orientation = main.integer(tags.orientation)
  return {
    orientation: orientation !== undefined && orientation >= 1 && orientation <= 8 ? orientation : undefined,
    taken_at: toTime(exif?.text(tags.taken)) ?? toTime(main.text(tags.changed)),
    taken_offset: /^[+-]\d\d:\d\d$/.exec(exif?.text(tags.offset) ?? '')?.[0],
    camera_make: main.text(tags.make),
    camera_model: main.text(tags.model),
    lens: exif?.text(tags.lens),
    software: main.text(tags.software),
    description: main.text(tags.description),
    artist: main.text(tags.artist),
    copyright: main.text(tags.copyright),
    ...(gps && factsOfPlace(gps)),
  }
}

/** `2024:02:29 13:00:00` as ISO 8601; undefined for another text, such as one of zeros or blanks. */
function toTime(text: string | undefined): string | undefined {
  const found = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(text ?? '')
  if (!found) return undefined
  const [, year, month, day, hour, minute, second] = found
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const at = new Date(`${iso}Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(iso) ? iso : undefined
}

function factsOfPlace(gps: TiffDirectory): ImageFacts {
  const latitude = toDegrees(gps.numbers(gpsTags.latitude), gps.text(gpsTags.south) === 'S', 90)
  const longitude = toDegrees(gps.numbers(gpsTags.longitude), gps.text(gpsTags.west) === 'W', 180)
  const altitude = gps.number(gpsTags.altitude)
  const isBelow = gps.number(gpsTags.belowSea) === 1
  return {
    ...(latitude !== undefined && longitude !== undefined && { latitude, longitude }),
    altitude_m: altitude !== undefined && Number.isFinite(altitude) ? (isBelow ? -altitude : altitude) : undefined,
  }
}

function toDegrees(parts: readonly number[] | undefined, isNegative: boolean, max: number): number | undefined {
  const [degrees = Number.NaN, minutes = 0, seconds = 0] = parts ?? []
  const value = Number((degrees + minutes / 60 + seconds / 3_600).toFixed(8))
  if (!Number.isFinite(value) || value > max) return undefined
  return isNegative ? -value : value
}

/** Where the small JPEG is that the block has: within it, and with the first bytes of one. */
function findThumbnail(
  file: ByteWindow,
  directory: TiffDirectory | undefined,
  start: number,
  length: number,
): ImageFacts {
  const at = directory?.integer(tags.thumbnailStart)
  const bytes = directory?.integer(tags.thumbnailLength)
  if (at === undefined || bytes === undefined || bytes < 4 || at + bytes > length) return {}
  const [first, second] = file.bytes(start + at, 2)
  return first === 0xff && second === 0xd8 ? { thumbnail_start: start + at, thumbnail_bytes: bytes } : {}
}
