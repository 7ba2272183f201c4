// The corpus of hostile and plain requests that the public proxy is held to, and what a row says.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

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

const file = path.resolve(import.meta.dirname, '../data/proxy/corpus.jsonl.gz')

/** The rules that its rows are written for. */
export const corpusAllowlist = 'GET /api/v1/report\nGET /api/v1/report/{id}\nPOST /api/v1/feedback'

export function corpusRows(): Row[] {
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Row)
}
