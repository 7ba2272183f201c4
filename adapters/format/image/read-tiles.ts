// Reads the index of the tiles of a TIFF: where each one is in the file, and in the world.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { ByteWindow } from './byte-window.ts'
import { FactTable } from './fact-table.ts'
import { boundsOf, scaleTransform } from './geo-keys.ts'
import { listTiffImages, listTiles, type TiffImage, type TileLayout } from './tiff-images.ts'

const [integer, double] = [{ type: 'int64' }, { type: 'double' }] as const

const tileColumns = {
  ...{ image: integer, overview: integer, band: integer, row: integer, column: integer },
  ...{ x: integer, y: integer, width: integer, height: integer },
  ...{ min_x: double, min_y: double, max_x: double, max_y: double, offset: integer, bytes: integer },
} as const

/**
 * Yields a row for each tile or strip, overviews behind their image (`overview` 0). `band` is missing where a tile has all bands; a tile of no
 * bytes is empty. Throws `DataFault`, and what the file or `onReject` throws.
 */
export async function* readTiles(
  file: RangeSource,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const window = new ByteWindow(file)
  const table = new FactTable(tileColumns, options)
  let hasBlock = false
  for (const [index, image] of listTiffImages(window).entries())
    for (const [overview, layout] of [image.layout, ...image.overviews].entries())
      for (const piece of listTiles(layout)) {
        addTiles(table, file.size, image, layout, { image: index + 1, overview }, piece)
        onRead(file.size)
        if (!table.isFull) continue
        hasBlock = true
        yield table.block()
        table.clear()
      }
  if (table.rows > 0 || !hasBlock) yield table.block()
}

function addTiles(
  table: FactTable<typeof tileColumns>,
  file_bytes: number,
  { layout: full, reference: { transform } }: TiffImage,
  layout: TileLayout,
  place: { readonly image: number; readonly overview: number },
  { first, offsets, bytes: lengths }: { readonly first: number; readonly offsets: number[]; readonly bytes: number[] },
): void {
  const { width, height, tile_width, tile_height, columns, rows, planes } = layout
  const scaled = transform && scaleTransform(transform, full.width / width, full.height / height)
  for (const [at, offset] of offsets.entries()) {
    const [tile, bytes = 0] = [first + at, lengths[at]]
    if (offset + bytes > file_bytes) {
      table.refuse('the tile lies beyond the end of the file')
      continue
    }
    const within = tile % (columns * rows)
    const [row, column] = [Math.floor(within / columns), within % columns]
    const [x, y] = [column * tile_width, row * tile_height]
    const [tileWidth, tileHeight] = [Math.min(tile_width, width - x), Math.min(tile_height, height - y)]
    table.add({
      ...{ ...place, row, column, x, y, width: tileWidth, height: tileHeight, offset, bytes },
      band: planes === 1 ? undefined : Math.floor(tile / (columns * rows)) + 1,
      ...boundsOf(scaled, x, y, tileWidth, tileHeight),
    })
  }
}
