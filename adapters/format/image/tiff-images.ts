// The images of a TIFF: those of full size with their smaller versions, and where their tiles are.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ByteWindow } from './byte-window.ts'
import { factsOfDirectory } from './exif-facts.ts'
import { factsOfReference, type GeoReference, readGeoReference } from './geo-keys.ts'
import type { ImageFacts } from './image-facts.ts'
import { type TiffDirectory, TiffFile } from './tiff-directory.ts'

const tags = {
  ...{ subfile: 254, oldSubfile: 255, width: 256, height: 257, bits: 258, compression: 259, color: 262, samples: 277 },
  ...{ rowsPerStrip: 278, planes: 284, subDirectories: 330, format: 339 },
  ...{ stripStarts: 273, stripBytes: 279, tileWidth: 322, tileHeight: 323, tileStarts: 324, tileBytes: 325 },
} as const
const [isReduced, isMask] = [1, 4]
const apartPlanes = 2
const max_sub_directories = 256

const compressions: Readonly<Record<number, string>> = {
  ...{
    1: 'none',
    2: 'ccitt',
    3: 'ccitt-3',
    4: 'ccitt-4',
    5: 'lzw',
    6: 'jpeg',
    7: 'jpeg',
    8: 'deflate',
    32946: 'deflate',
  },
  ...{ 32773: 'packbits', 34712: 'jpeg2000', 34887: 'lerc', 34925: 'lzma', 50000: 'zstd', 50001: 'webp' },
}
const colors: Readonly<Record<number, string>> = {
  ...{ 0: 'gray', 1: 'gray', 2: 'rgb', 3: 'palette', 4: 'mask', 5: 'cmyk', 6: 'ycbcr', 8: 'lab', 9: 'lab', 10: 'lab' },
}
const sampleFormats: Readonly<Record<number, string>> = { 1: 'uint', 2: 'int', 3: 'float', 5: 'complex', 6: 'complex' }

/** How an image is cut into tiles; strips are tiles of its width. */
export type TileLayout = {
  readonly directory: TiffDirectory
  readonly width: number
  readonly height: number
  readonly tile_width: number
  readonly tile_height: number
  readonly columns: number
  readonly rows: number
  /** Bands that are stored apart from each other. */
  readonly planes: number
  /** Tags of the places and lengths of tiles. */
  readonly starts: number
  readonly lengths: number
}

export type TiffImage = {
  readonly layout: TileLayout
  readonly reference: GeoReference
  /** The same image in smaller sizes, the largest one first. */
  readonly overviews: readonly TileLayout[]
  /** Throws `DataFault`. */
  facts(): ImageFacts
}

/** Tiles whose places are read together. */
const piece_tiles = 8_192

const isPlace = (value: number) => Number.isSafeInteger(value) && value >= 0

/** The places of the tiles, some at once. Throws `DataFault`. */
export function* listTiles({ directory, columns, rows, planes, starts, lengths }: TileLayout) {
  const count = columns * rows * planes
  for (let first = 0; first < count; first += piece_tiles) {
    const end = Math.min(first + piece_tiles, count)
    const offsets = directory.range(starts, first, end)
    const bytes = directory.range(lengths, first, end)
    if (!offsets?.every(isPlace) || !bytes?.every(isPlace))
      throw new DataFault('damaged: the places of its tiles are not numbers')
    yield { first, offsets, bytes }
  }
}

function requireTiles(layout: TileLayout): void {
  const { size } = layout.directory.file.window
  for (const { offsets, bytes } of listTiles(layout))
    if (offsets.some((offset, at) => offset + (bytes[at] ?? 0) > size))
      throw new DataFault('damaged: it ends within its pixels')
}

/** The images in the order of the file. Masks belong to an image and are left out. Throws `DataFault`. */
export function listTiffImages(window: ByteWindow): readonly TiffImage[] {
  const images: { main: TiffDirectory; layout: TileLayout; overviews: TileLayout[] }[] = []
  for (const directory of new TiffFile(window).directories()) {
    const kind = kindOf(directory)
    if (kind & isMask) continue
    const layout = layoutOf(directory)
    const last = images.at(-1)
    // The first directory is an image whatever it claims to be.
    if (kind & isReduced && last) last.overviews.push(layout)
    else images.push({ main: directory, layout, overviews: subOverviews(directory) })
  }
  if (images.length === 0) throw new DataFault('damaged: it has no image')
  return images.map(({ main, layout, overviews }) => {
    const reference = readGeoReference(main)
    const sorted = overviews.toSorted((a, b) => b.width - a.width)
    return { layout, reference, overviews: sorted, facts: () => factsOf(layout, reference, sorted.length) }
  })
}

function kindOf(directory: TiffDirectory): number {
  const old = directory.integer(tags.oldSubfile)
  return directory.integer(tags.subfile) ?? (old === 2 ? isReduced : 0)
}

/** Smaller versions may be beside the chain. */
function subOverviews(directory: TiffDirectory): TileLayout[] {
  const starts = directory.numbers(tags.subDirectories) ?? []
  return starts.slice(0, max_sub_directories).flatMap((start) => {
    const sub = directory.file.directoryAt(start)
    return kindOf(sub) === isReduced ? [layoutOf(sub)] : []
  })
}

function layoutOf(directory: TiffDirectory): TileLayout {
  const [width, height] = [requireSize(directory, tags.width), requireSize(directory, tags.height)]
  const isTiled = directory.has(tags.tileStarts)
  const tile_width = isTiled ? requireSize(directory, tags.tileWidth) : width
  const perStrip = Math.min(directory.integer(tags.rowsPerStrip) ?? height, height)
  const tile_height = isTiled ? requireSize(directory, tags.tileHeight) : Math.max(1, perStrip)
  const planes = directory.integer(tags.planes) === apartPlanes ? samplesOf(directory) : 1
  const [columns, rows] = [Math.ceil(width / tile_width), Math.ceil(height / tile_height)]
  const [starts, lengths] = isTiled ? [tags.tileStarts, tags.tileBytes] : [tags.stripStarts, tags.stripBytes]
  const count = columns * rows * planes
  if (directory.count(starts) !== count || directory.count(lengths) !== count)
    throw new DataFault(`damaged: it has ${directory.count(starts)} tiles or strips, and its size needs ${count}`)
  // The values of both have to be in the file.
  directory.range(starts, 0, 0)
  directory.range(lengths, 0, 0)
  return { directory, width, height, tile_width, tile_height, columns, rows, planes, starts, lengths }
}

function requireSize(directory: TiffDirectory, tag: number): number {
  const size = directory.integer(tag)
  if (size === undefined || size < 1) throw new DataFault('damaged: an image in it has no size')
  return size
}

function samplesOf(directory: TiffDirectory): number {
  return directory.integer(tags.samples) ?? 1
}

function factsOf(layout: TileLayout, reference: GeoReference, overviews: number): ImageFacts {
  requireTiles(layout)
  const { directory, width, height, tile_width, tile_height, columns, rows, planes } = layout
  const [compression, color] = [directory.integer(tags.compression) ?? 1, directory.integer(tags.color)]
  return {
    format: 'tiff',
    ...factsOfDirectory(directory),
    ...{ width, height, bits: directory.integer(tags.bits) ?? 1, samples: samplesOf(directory) },
    color: color === undefined ? undefined : (colors[color] ?? String(color)),
    compression: compressions[compression] ?? String(compression),
    sample_format: sampleFormats[directory.integer(tags.format) ?? 1],
    ...factsOfReference(reference, width, height),
    ...{ tile_width, tile_height, tiles: columns * rows * planes, overviews },
  }
}
