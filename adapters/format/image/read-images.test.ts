// Images as programs write them, and files that are made to exhaust a reader.
// test/support/data/images was written by Pillow 13.0.0, pillow-heif and tifffile 2026.3.3.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { DataFault, type RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { alterBytes } from '../../../test/support/data/altered-bytes.ts'
import { listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import { encodeTiff, imageTags } from '../../../test/support/data/write-tiff.ts'
import { detectImageFormat, readImages } from './read-images.ts'
import { readTiles } from './read-tiles.ts'

const all: DataReadOptions = { limits: usualLimits, isSelected: () => true }
const fixture = (name: string) =>
  readFileSync(path.join(import.meta.dirname, '../../../test/support/data/images', name))
const names = ['a.jpg', 'a.png', 'a.webp', 'lossless.webp', 'a.gif', 'a.bmp', 'a.tif', 'geo.tif', 'big.tif'] as const
const heif = ['a.heic', 'a.avif'] as const

/** Rows as objects of the values that they have. */
async function read(bytes: Uint8Array, options = all): Promise<Record<string, string>[]> {
  const { names: columns, rows } = await listRows(readImages(memoryRanges(bytes), options))
  return rows.map((row) =>
    Object.fromEntries(columns.flatMap((name, at) => (typeof row[at] === 'string' ? [[name, row[at]]] : []))),
  )
}

/** As the program was given it. */
const camera = {
  ...{ camera_make: 'Ka Mera', camera_model: 'K 1', lens: '50mm', software: 'prog 1', copyright: '(c) A' },
  ...{ taken_at: '2024-02-29T13:00:01', taken_offset: '+01:00' },
  ...{ latitude: '-47.51', longitude: '8.25', altitude_m: '412.5' },
}
const size = { image: '1', width: '64', height: '48', bits: '8' }

describe('an image has its size, its colours and what the camera states', () => {
  test.each<[name: string, facts: Record<string, string>]>([
    ['a.jpg', { ...size, ...camera, format: 'jpeg', color: 'ycbcr', samples: '3', orientation: '6' }],
    ['a.png', { ...size, ...camera, format: 'png', color: 'rgb', samples: '3', orientation: '6' }],
    ['a.webp', { ...size, ...camera, format: 'webp', compression: 'vp8', orientation: '6' }],
    ['lossless.webp', { ...size, format: 'webp', compression: 'vp8l', color: 'rgb' }],
    ['a.gif', { ...size, bits: '6', format: 'gif', color: 'palette', samples: '1' }],
    ['a.bmp', { ...size, width: '9', height: '7', format: 'bmp', color: 'rgb', samples: '3' }],
    ['a.tif', { ...size, format: 'tiff', compression: 'lzw', color: 'rgb', camera_make: 'Ka Mera', orientation: '6' }],
    ['a.heic', { ...size, ...camera, format: 'heic', compression: 'hevc', orientation: '1' }],
    ['a.avif', { ...size, ...camera, format: 'avif', compression: 'av1', orientation: '6' }],
  ])('%s', async (name, facts) => {
    expect(await read(fixture(name))).toEqual([expect.objectContaining(facts)])
  })

  test('a small JPEG within EXIF is found by its place', async () => {
    const bytes = fixture('a.jpg')
    const [row] = await read(bytes)
    const start = Number(row?.thumbnail_start)
    const small = bytes.subarray(start, start + Number(row?.thumbnail_bytes))
    expect(await read(small)).toMatchObject([{ format: 'jpeg', width: '16', height: '12' }])
  })

  test('a GeoTIFF has its place in the world', async () => {
    expect(await read(fixture('geo.tif'))).toEqual([
      expect.objectContaining({
        ...{ crs: 'EPSG:25832', min_x: '500000', max_x: '503840', min_y: '5297120', max_y: '5300000' },
        ...{ pixel_width: '30', pixel_height: '30', no_data: '-9999', sample_format: 'float', bits: '32' },
        ...{ tile_width: '32', tile_height: '32', tiles: '12', overviews: '2', samples: '1' },
      }),
    ])
  })
})

describe('the index of tiles', () => {
  const index = async (name: string) => {
    const { names: columns, rows } = await listRows(readTiles(memoryRanges(fixture(name)), all))
    return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])))
  }

  test('has each tile with its bounds, and those of smaller versions', async () => {
    const rows = await index('geo.tif')
    expect(rows.map(({ overview }) => overview)).toEqual([...Array(12).fill('0'), ...Array(4).fill('1'), '2'])
    expect(rows[5]).toMatchObject({
      ...{ image: '1', band: null, row: '1', column: '1', x: '32', y: '32', width: '32', height: '32' },
      ...{ min_x: '500960', min_y: '5298080', max_x: '501920', max_y: '5299040' },
    })
    // The smallest version is one tile, of which a part is the image.
    expect(rows.at(-1)).toMatchObject({
      ...{ width: '32', height: '24', min_x: '500000', min_y: '5297120', max_x: '503840', max_y: '5300000' },
    })
    const bytes = fixture('geo.tif')
    // Each is a stream of zlib at its place.
    for (const { offset } of rows) expect(bytes[Number(offset)]).toBe(0x78)
  })

  test('has strips of bands that are stored apart, of a BigTIFF in the other order of bytes', async () => {
    const rows = await index('big.tif')
    expect(rows.map(({ band, row, height }) => [band, row, height])).toEqual(
      ['1', '2', '3'].flatMap((band) => [
        [band, '0', '16'],
        [band, '1', '16'],
        [band, '2', '8'],
      ]),
    )
    expect(rows[0]).toMatchObject({ min_x: null, x: '0', width: '50' })
  })

  test('leaves out a tile beyond the end of the file', async () => {
    const rejects: RejectedRecord[] = []
    const tiff = encodeTiff([imageTags(4, 4, 8, 1_000_000)])
    const options = { ...all, onReject: (record: RejectedRecord) => void rejects.push(record) }
    expect((await listRows(readTiles(memoryRanges(tiff), options))).rows).toEqual([])
    expect(rejects).toEqual([{ reason: 'the tile lies beyond the end of the file', place: { line: 1, offset: 0 } }])
  })
})

test.each([...names, ...heif])('%s that is damaged anywhere is read or refused, and nothing else', async (name) => {
  let refused = 0
  for (const { altered, describe: seed } of alterBytes(fixture(name), 300))
    for (const reading of [read(altered), listRows(readTiles(memoryRanges(altered), all))])
      await reading.catch((error) => {
        expect(error, seed).toBeInstanceOf(DataFault)
        refused++
      })
  expect(refused).toBeGreaterThan(50)
})

test('a damaged image is a bad record, so that those of other files land', async () => {
  const rejects: RejectedRecord[] = []
  const options = { ...all, onReject: (record: RejectedRecord) => void rejects.push(record) }
  expect(await read(fixture('a.jpg').subarray(0, 1_900), options)).toEqual([])
  expect(rejects).toEqual([{ reason: 'damaged: it ends within its pixels', place: { line: 1, offset: 0 } }])
})

describe('is refused:', () => {
  const jpeg = fixture('a.jpg')
  const png = (...chunks: readonly Buffer[]) => Buffer.concat([fixture('a.png').subarray(0, 33), ...chunks])
  const chunk = (length: number, kind: string) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt32BE(length)
    bytes.write(kind, 4, 'latin1')
    return bytes
  }
  const circle = encodeTiff([imageTags(1, 1, 8, 1)], undefined, [8])
  const mask = [254, 4, 1, 4] as const
  test.each<[what: string, content: () => Uint8Array, fault: string]>([
    ['a text', () => Buffer.from('a,b\n1,2\n'), 'not an image of a known format'],
    ['nothing', () => Buffer.alloc(0), 'not an image of a known format'],
    ['a JPEG that is cut in its segments', () => jpeg.subarray(0, 200), 'lies beyond its end'],
    ['a JPEG without a mark', () => Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 1, 2, 3]), 'a segment has no mark'],
    ['a PNG that is cut', () => fixture('a.png').subarray(0, 400), 'it ends within a part'],
    ['a PNG with a part of 4 GiB', () => png(chunk(0xffff_ffff, 'IDAT')), 'it ends within a part'],
    ['a PNG without an end', () => png(), 'lies beyond its end'],
    ['a GIF that is cut', () => fixture('a.gif').subarray(0, 900), 'it does not end with its last part'],
    ['a WebP that is cut', () => fixture('a.webp').subarray(0, 300), 'it ends too early'],
    ['a BMP that is cut', () => fixture('a.bmp').subarray(0, 200), 'it ends within its pixels'],
    ['a HEIC that is cut', () => fixture('a.heic').subarray(0, 400), 'lies beyond its end'],
    ['a TIFF that is cut', () => fixture('geo.tif').subarray(0, 1_400), 'damaged'],
    ['directories in a circle', () => circle, 'its directories refer to one another'],
    ['too many directories', () => encodeTiff(Array(5_000).fill([mask])), 'more than 4096 directories'],
    ['too many tags', () => encodeTiff(Array(5).fill(Array(65_535).fill(mask))), 'more than 262144 tags'],
    [
      'strips of four billion pixels in a few bytes',
      () => encodeTiff([imageTags(0xffff_ffff, 0xffff_ffff, 8, 0xffff_ffff)]),
      'it ends within its pixels',
    ],
    [
      'four billion strips in a few bytes',
      () =>
        encodeTiff([
          imageTags(8, 0xffff_ffff, 8, 8).map((tag) =>
            tag[0] === 273 || tag[0] === 279 ? [tag[0], 4, 0xffff_ffff, 8] : tag[0] === 278 ? [278, 4, 1, 1] : tag,
          ),
        ]),
      'lie beyond its end',
    ],
    [
      'a part of a WebP beyond it',
      () => Buffer.from('RIFF\x10\0\0\0WEBPVP8X\xff\xff\0\0........', 'latin1'),
      'damaged',
    ],
  ])('%s', async (_, content, fault) => {
    const reading = read(content())
    await expect(reading).rejects.toThrow(DataFault)
    await expect(reading).rejects.toThrow(fault)
  })

  test('a million parts of a PNG', async () => {
    await expect(read(png(Buffer.alloc(12 * 600_000, chunk(0, 'tEXt'))))).rejects.toThrow('it has too many parts')
  })
})

test('the format is that of the content', () => {
  const formats = [...names, ...heif].map((name) => detectImageFormat(memoryRanges(fixture(name))))
  expect(formats.join(' ')).toBe('jpeg png webp webp gif bmp tiff tiff tiff heic avif')
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, 1e300])(
  'a tag of %d where an integer belongs states nothing, or the image is damaged',
  async (value) => {
    const content = Buffer.alloc(64)
    content.writeDoubleLE(value)
    for (const tag of [...imageTags(4, 4, 0, 16).map(([each]) => each), 284, 330, 34_665, 34_853]) {
      const others = imageTags(4, 4, 0, 16).filter(([each]) => each !== tag)
      const end = 8 + 2 + (others.length + 1) * 12 + 4
      const tags = others.map((each) => (each[0] === 273 ? ([273, 4, 1, end + 8] as const) : each))
      const bytes = encodeTiff([[...tags, [tag, 12, 1, end]]], content)
      const rejects: string[] = []
      const options = { ...all, onReject: ({ reason }: RejectedRecord) => rejects.push(reason) }
      for (const [column, text] of (await read(bytes, options)).flatMap((row) => Object.entries(row)))
        expect([column, text]).not.toEqual([column, expect.stringMatching(/NaN|Infinity|\.|e\+|^-/)])
      const tiles = await listRows(readTiles(memoryRanges(bytes), options)).catch((error) => {
        expect(error).toBeInstanceOf(DataFault)
      })
      expect(JSON.stringify(tiles?.rows ?? [])).not.toMatch(/NaN|Infinity|\.|e\+|-/)
    }
  },
)
