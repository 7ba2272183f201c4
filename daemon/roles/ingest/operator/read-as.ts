// How a task reads its file, where neither the name of the file nor its content is to decide.
import * as z from 'zod'
import { dialectCharacter } from '../../../kernel/data/csv-dialect.ts'
import { textEncodings } from '../../../kernel/data/utf8-source.ts'

type ReadingSetting = 'encoding' | 'delimiter' | 'pointer' | 'sheet'

/** The settings that each format has. */
const settings = {
  csv: ['encoding', 'delimiter'],
  tsv: ['encoding', 'delimiter'],
  json: ['encoding', 'pointer'],
  jsonl: ['encoding'],
  geojson: [],
  xml: ['encoding', 'pointer'],
  avro: [],
  parquet: [],
  xls: ['sheet'],
  xlsx: ['sheet'],
  gpkg: ['sheet'],
  shapefile: ['encoding'],
  image: [],
  tiles: [],
  pdf: [],
  'pdf-tables': [],
} as const satisfies Readonly<Record<string, readonly ReadingSetting[]>>

export type FileFormat = keyof typeof settings
/** Formats of data files. */
export const fileFormats = Object.keys(settings) as [FileFormat, ...FileFormat[]]

const readAsFields = z.strictObject({
  format: z.enum(fileFormats).optional().meta({ description: 'Default: by the extension of the file, or else CSV' }),
  encoding: z
    .enum(textEncodings)
    .optional()
    .meta({ description: 'Of text without a byte order mark (default: found in the file)' }),
  delimiter: dialectCharacter
    .optional()
    .meta({ description: 'Between the values of a line (default: found in the file)' }),
  pointer: z.string().max(1_024).regex(/^\/./, 'must begin with /').optional().meta({
    description:
      'List of records in a JSON document (default: the only one); of XML, elements that are records, which is required',
  }),
  sheet: z.string().min(1).max(255).optional().meta({
    description:
      'Sheet of a workbook (default: the first that is not hidden) or layer of a GeoPackage (default: the only one), by name or number',
  }),
})
export type ReadAs = z.infer<typeof readAsFields>

export const readAs = readAsFields
  .superRefine((stated, context) => {
    const fault = stated.format && findReadingFault(stated, stated.format)
    if (fault) context.addIssue({ code: 'custom', message: fault })
  })
  .meta({ description: 'How the file is read' })

/** Why a file of this format cannot be read so; undefined where it can. */
export function findReadingFault(stated: ReadAs, format: FileFormat): string | undefined {
  const known: readonly string[] = settings[format]
  const other = (['encoding', 'delimiter', 'pointer', 'sheet'] as const).find(
    (name) => stated[name] !== undefined && !known.includes(name),
  )
  if (other !== undefined) return `${format} has no ${other}: leave it out of read_as`
  if (format !== 'xml' || stated.pointer !== undefined) return undefined
  // In a file with one order, its lines would be what repeats.
  return 'XML needs read_as.pointer, the path of the elements that are records, such as /export/order: what repeats differs from file to file'
}

/** Without the settings that this format does not have. */
export function pickReading({ format: _, ...stated }: ReadAs, format: FileFormat): Omit<ReadAs, 'format'> {
  const known: readonly string[] = settings[format]
  return Object.fromEntries(Object.entries(stated).filter(([name]) => known.includes(name)))
}
