// Downloads a data file from a source of the profile, and lands it as a dataset.
import * as z from 'zod'
import { filePathBelow, sourceName } from '../http-source/model.ts'
import { operator } from './operator.ts'
import { readAs } from './read-as.ts'

export const ingestHttp = operator({
  name: 'ingest_http',
  summary:
    'Download a data file over HTTP (CSV, JSON, JSON lines, GeoJSON, XML, Avro, Parquet, a workbook, GeoPackage, a zipped shapefile, an image or a PDF), and land it as Parquet with its types',
  inputs: { min: 0, max: 0 },
  makes_dataset: true,
  params: z.strictObject({
    source: sourceName.meta({ description: 'Name of a source in ingest.http_sources of the profile' }),
    path: filePathBelow.optional().meta({ description: 'Path below the URL of the source; default: that URL itself' }),
    read_as: readAs
      .optional()
      .meta({ description: 'How the file is read; its format by default by the path, or else by the media type' }),
    max_rejects: z.int().min(0).default(0).meta({ description: 'Rows that may be rejected; more fail the task' }),
  }),
})
