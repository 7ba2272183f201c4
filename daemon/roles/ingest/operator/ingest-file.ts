// Reads a data file of the tenant, and lands it as a dataset.
import * as z from 'zod'
import { operator } from './operator.ts'
import { readAs } from './read-as.ts'

export const ingestFile = operator({
  name: 'ingest_file',
  summary:
    'Read a data file of the tenant (CSV, JSON, JSON lines, GeoJSON, XML, Avro, Parquet, a workbook, GeoPackage, a zipped shapefile, an image or a PDF), and land it as Parquet with its types',
  inputs: { min: 0, max: 0 },
  makes_dataset: true,
  params: z.strictObject({
    file: z
      .string()
      .min(1)
      .max(1_024)
      .meta({ description: 'Path of the file below the folder of the tenant in ingest.data_folder' }),
    read_as: readAs.optional(),
    max_rejects: z.int().min(0).default(0).meta({ description: 'Rows that may be rejected; more fail the task' }),
  }),
})
