// A shapefile in a ZIP archive: its parts, the encoding of its texts, and the reference system of its coordinates.
import { isUtf8 } from 'node:buffer'
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { PieceReader } from '../zip/piece-reader.ts'
import { inflateEntry, readZipEntries, type ZipEntry } from '../zip/zip-entries.ts'
import { readDbaseHeader } from './dbase-table.ts'
import { readSrsName } from './srs-name.ts'

export type ShapefileArchive = {
  readonly file: RangeSource
  readonly shapes: ZipEntry
  readonly attributes: ZipEntry
  readonly encoding: TextEncodingName
  /** What says the encoding: the option, the archive, or nothing but the bytes. */
  readonly isEncodingFound: boolean
  /** Undefined for longitude and latitude of WGS 84, and where nothing is known. */
  readonly srs: string | undefined
}

/** The format itself has 2 GiB at most. */
export const max_part_bytes = 4_294_967_296
const max_text_bytes = 65_536
const max_named = 5
const wanted = 'a ZIP archive with a shapefile'
/** Beginning of a .shp. */
const shape_code = 9_994

/** Names of encodings in a .cpg, in lower case and without blanks, hyphens and underlines. */
const encodingsByName: Readonly<Record<string, TextEncodingName>> = {
  ...{ utf8: 'utf-8', '65001': 'utf-8' },
  ...{ iso88591: 'latin-1', '88591': 'latin-1', latin1: 'latin-1', '28591': 'latin-1' },
  ...{ windows1252: 'windows-1252', cp1252: 'windows-1252', '1252': 'windows-1252', ansi1252: 'windows-1252' },
}
/** By the number of the code page in the table. */
const encodingsByLanguage: Readonly<Record<number, TextEncodingName>> = {
  ...{ 3: 'windows-1252', 87: 'windows-1252', 88: 'windows-1252', 89: 'windows-1252' },
}

/** `stated`: the encoding, regardless of what the archive says. `onRead` is called before each piece that is searched for it. Throws `DataFault`, and what the file throws. */
export async function openShapefile(
  file: RangeSource,
  stated: TextEncodingName | undefined,
  onRead: (read_bytes: number) => void,
): Promise<ShapefileArchive> {
  if (file.size >= 4 && new DataView(file.read(0, 4)).getUint32(0) === shape_code)
    throw new DataFault('a .shp without its attributes: put it with its .dbf, .prj and .cpg into a .zip, and name that')
  const parts = findParts(file)
  const system = await readText(file, parts.get('prj'))
  const { encoding, isFound } = await findEncoding({ file, onRead }, parts, stated)
  return {
    ...{ file, shapes: requirePart(parts, 'shp'), attributes: requirePart(parts, 'dbf'), encoding },
    isEncodingFound: isFound,
    srs: system === undefined ? undefined : readSrsName(system),
  }
}

type ObservedFile = { readonly file: RangeSource; readonly onRead: (read_bytes: number) => void }
type ShapefileParts = ReadonlyMap<string, ZipEntry>

/** The parts of the only shapefile, by their extension. */
function findParts(file: RangeSource): ShapefileParts {
  const entries = new Map([...readZipEntries(file, wanted)].filter(([name]) => !/(?:^|\/)(?:__MACOSX\/|\.)/.test(name)))
  const [only, another, ...more] = [...entries.keys()].filter((name) => /\.shp$/i.test(name))
  if (only === undefined) throw new DataFault('an archive without a shapefile: it has no .shp')
  if (another !== undefined) {
    const named = [only, another, ...more].slice(0, max_named).map((name) => JSON.stringify(name))
    throw new DataFault(`an archive of several shapefiles (${named.join(', ')}): make an archive of each`)
  }
  const stem = only.slice(0, -'shp'.length).toLowerCase()
  const parts = [...entries].filter(([name]) => name.toLowerCase().startsWith(stem))
  return new Map(parts.map(([name, entry]) => [name.slice(stem.length).toLowerCase(), entry]))
}

function requirePart(parts: ShapefileParts, extension: string): ZipEntry {
  const part = parts.get(extension)
  if (part) return part
  throw new DataFault(`an archive with a part of a shapefile alone: it has no .${extension} of that name`)
}

async function readText(file: RangeSource, entry: ZipEntry | undefined): Promise<string | undefined> {
  if (!entry) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of inflateEntry(file, entry, max_text_bytes, () => undefined)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

async function findEncoding(
  { file, onRead }: ObservedFile,
  parts: ShapefileParts,
  stated: TextEncodingName | undefined,
): Promise<{ readonly encoding: TextEncodingName; readonly isFound: boolean }> {
  if (stated === 'utf-16le' || stated === 'utf-16be') throw new DataFault('a shapefile, which has no texts in UTF-16')
  if (stated !== undefined) return { encoding: stated, isFound: false }
  const page = (await readText(file, parts.get('cpg')))?.trim()
  const named = encodingsByName[page?.toLowerCase().replace(/[\s_-]/g, '') ?? '']
  if (named) return { encoding: named, isFound: false }
  if (page) throw unknownEncoding(`its .cpg names the encoding ${JSON.stringify(page.slice(0, 64))}`)
  return await judgeTable({ file, onRead }, requirePart(parts, 'dbf'))
}

function unknownEncoding(reason: string): DataFault {
  return new DataFault(`${reason}, which is not read; if it is another one, state it by --encoding`)
}

/** By the number of the code page; else UTF-8 where all names and records are, and Windows-1252, as of other texts. */
async function judgeTable({ file, onRead }: ObservedFile, entry: ZipEntry) {
  const reader = new PieceReader(
    inflateEntry(file, entry, max_part_bytes, () => onRead(0)),
    'the .dbf',
  )
  try {
    const { language, rows, record_bytes, fields } = await readDbaseHeader(reader)
    const known = encodingsByLanguage[language]
    if (known) return { encoding: known, isFound: false }
    if (language !== 0) throw unknownEncoding(`its .dbf names the code page ${language}`)
    const windows = { encoding: 'windows-1252' as const, isFound: true }
    if (!fields.every(({ name }) => isUtf8(name))) return windows
    for (let row = 0; row < rows; row++) if (!isUtf8(await reader.take(record_bytes))) return windows
    return { encoding: 'utf-8' as const, isFound: false }
  } finally {
    await reader.close()
  }
}
