// Readers of the kinds of data files that are read by ranges of bytes, and not as text.
import type { DataKind, DataReader } from './data-kinds.ts'

/** Separates the items of a list; fields that are sets split at it. */
export const list_separator = '|'

/** Formats are loaded when a file of them is read. */
export const binaryReaders = {
  avro: {
    extensions: ['.avro'],
    place: 'record',
    hasObjects: true,
    async open(file, options, onRead) {
      const { readAvro } = await import('../../format/avro/read-avro.ts')
      return readAvro(file, list_separator, options, onRead)
    },
  },
  parquet: {
    extensions: ['.parquet', '.pq'],
    place: 'record',
    async open(file, options, onRead) {
      const { readParquet } = await import('../../format/parquet/read-parquet.ts')
      return readParquet(file, list_separator, options, onRead)
    },
  },
  xls: {
    extensions: ['.xls'],
    place: 'row',
    async open(file, options, onRead, { sheet }) {
      const { readXls } = await import('../../format/xls/read-xls.ts')
      return readXls(file, sheet, options, onRead)
    },
  },
  xlsx: {
    extensions: ['.xlsx', '.xlsm'],
    place: 'row',
    async open(file, options, onRead, { sheet }) {
      const { readXlsx } = await import('../../format/xlsx/read-xlsx.ts')
      return readXlsx(file, sheet, options, onRead)
    },
  },
  gpkg: {
    extensions: ['.gpkg'],
    place: 'record',
    hasLongValues: true,
    async open(file, options, onRead, { sheet }) {
      const { readGeoPackage } = await import('../../format/geopackage/read-geopackage.ts')
      return readGeoPackage(file, sheet, options, onRead)
    },
  },
  shapefile: {
    extensions: ['.shz', '.zip'],
    place: 'record',
    hasLongValues: true,
    async open(file, options, onRead, { encoding }) {
      const { readShapefile } = await import('../../format/shapefile/read-shapefile.ts')
      return readShapefile(file, encoding, options, onRead)
    },
  },
  image: {
    extensions: ['.jpg', '.jpeg', '.png', '.tif', '.tiff', '.gif', '.webp', '.bmp', '.heic', '.heif', '.avif'],
    place: 'record',
    isMedia: true,
    async open(file, options, onRead) {
      const { readImages } = await import('../../format/image/read-images.ts')
      return readImages(file, options, onRead)
    },
  },
  pdf: {
    extensions: ['.pdf'],
    place: 'record',
    isMedia: true,
    async open(file, options, onRead) {
      const { readPdf } = await import('../../format/pdf/read-pdf.ts')
      return readPdf(file, options, onRead)
    },
  },
  'pdf-tables': {
    extensions: [],
    place: 'record',
    async open(file, options, onRead) {
      const { readPdfTables } = await import('../../format/pdf/read-pdf.ts')
      return readPdfTables(file, options, onRead)
    },
  },
  tiles: {
    extensions: [],
    place: 'record',
    async open(file, options, onRead) {
      const { readTiles } = await import('../../format/image/read-tiles.ts')
      return readTiles(file, options, onRead)
    },
  },
} as const satisfies Partial<Readonly<Record<DataKind, DataReader>>>
