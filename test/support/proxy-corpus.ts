// The corpus of hostile and plain requests that the public proxy is held to: where it lies, and what a row says.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Wanted } from './requires.ts'

export type Row = {
  readonly id: string
  readonly class: string
  readonly note: string
  readonly raw_b64: string
  readonly expect: {
    readonly forward: boolean | 'optional'
    readonly status: readonly number[]
    readonly upstream?: readonly { readonly method: string; readonly path: string }[]
    readonly source?: string
    readonly absent?: readonly string[]
    readonly absent_should?: readonly string[]
  }
}

/** PROXY_DATA names the folder with `corpus.jsonl.gz`. */
const file = path.join(process.env.PROXY_DATA ?? '', 'corpus.jsonl.gz')

export const corpusWanted: Wanted = {
  isPresent: process.env.PROXY_DATA !== undefined && existsSync(file),
  name: 'the corpus of requests',
  hint: 'PROXY_DATA must name the folder with corpus.jsonl.gz',
}

/** The rules that its rows are written for. */
export const corpusAllowlist = 'GET /api/v1/report\nGET /api/v1/report/{id}\nPOST /api/v1/feedback'

export function corpusRows(): Row[] {
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Row)
}
