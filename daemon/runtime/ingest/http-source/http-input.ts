// Downloads the file of a task, has it scanned, and says how it is read.
import { join } from 'node:path'
import { downloadFile, isWithinSource } from '../../../../adapters/ingest-source/http/download-file.ts'
import { addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import { openPlainFile } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { ingestHttp } from '../../../roles/ingest/operator/ingest-http.ts'
import { type FileFormat, fileFormats } from '../../../roles/ingest/operator/read-as.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { LandingInput } from '../landing/landing-input.ts'
import { formatOfName, toDataFormat } from '../landing/stated-format.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { readAuthorities } from './read-authorities.ts'
import { readAuthorization } from './read-authorization.ts'
import { scanDownload } from './scan-download.ts'

const imageTypes = ['jpeg', 'png', 'tiff', 'gif', 'webp', 'bmp', 'heic', 'heif', 'avif'] as const

const formatsByMediaType: Readonly<Record<string, FileFormat>> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'application/json': 'json',
  'application/avro': 'avro',
  'application/geo+json': 'geojson',
  'application/geopackage+sqlite3': 'gpkg',
  'application/jsonl': 'jsonl',
  'application/x-ndjson': 'jsonl',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'application/vnd.apache.parquet': 'parquet',
  ...Object.fromEntries(imageTypes.map((type) => [`image/${type}`, 'image' as const])),
  'application/pdf': 'pdf',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
}

/** Writes into the folder of drafts. Throws `RowSourceError`. */
export async function openHttpInput(job: TaskThreadJob): Promise<LandingInput> {
  const { http_source: source, trusted_networks, scanner } = job
  if (!source) throw new RowSourceError('the task has no source')
  const { path, read_as } = ingestHttp.params.parse(job.task.params)
  const base = new URL(source.url)
  const url = path === undefined ? base : new URL(`${source.url.replace(/\/$/, '')}/${path}`)
  if (!isWithinSource(url, base)) throw new RowSourceError('the path leads out of the source')
  const staged = join(job.drafts, 'download')
  const { ca_file, max_bytes, timeout_s } = source
  const access = {
    ...{ base, max_bytes, timeout_ms: timeout_s * 1_000, rule: addressRule(trusted_networks) },
    authorization: readAuthorization(source.authorization_file, 'source'),
    ca: ca_file === undefined ? undefined : readAuthorities(ca_file),
  }
  // The thread ends with its task: there is no other signal in it.
  const { media_type } = await downloadFile(url, access, staged, new AbortController().signal)
  if (scanner) await scanDownload(scanner, staged)
  const name = url.pathname.split('/').at(-1) || source.name
  const kind = read_as?.format ?? inferKind(url.pathname, media_type)
  return {
    name,
    label: `${source.name}: ${name}`,
    format: toDataFormat(kind, read_as),
    open: () => openPlainFile(staged),
  }
}

/** A guess could land the page of an error as a table of one column. */
function inferKind(pathname: string, media_type = ''): FileFormat {
  const byMediaType = Object.hasOwn(formatsByMediaType, media_type) ? formatsByMediaType[media_type] : undefined
  const kind = formatOfName(pathname) ?? byMediaType
  if (kind !== undefined) return kind
  const known = fileFormats.join(', ')
  throw new RowSourceError(
    `the format of the file is unknown: neither its name nor its media type says; state read_as.format, one of ${known}`,
  )
}
