// The corpus of hostile and plain requests that the public proxy is held to, and what a row says.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

export type CorpusRow = {
  readonly id: string
  readonly class: string
  readonly note: string
  readonly raw_b64: string
  /** The upstream's answer, after which it closes; a plain 200 when absent. */
  readonly upstream_b64?: string
  /** Requests that follow, each on a connection of its own. */
  readonly then_b64?: readonly string[]
  /** Never whole: the proxy ends it by its time limits. */
  readonly slow?: true
  readonly expect: {
    readonly forward: boolean | 'optional'
    readonly status: readonly number[]
    /** The requests at the upstream, at most `upstream_max`. */
    readonly upstream?: readonly { readonly method: string; readonly path: string }[]
    readonly upstream_max: number
    /** After the requests that follow: no more, and no fewer. */
    readonly then_upstream_max?: number
    readonly upstream_min?: number
    readonly body?: string
    readonly not_path?: readonly string[]
    readonly resp_absent?: readonly string[]
    readonly should?: 'reject'
    /** The connection must not go on. */
    readonly close?: true
    readonly source?: string
    readonly absent?: readonly string[]
    readonly absent_should?: readonly string[]
  }
}

const corpusFile = path.resolve(import.meta.dirname, '../../data/proxy/corpus.jsonl.gz')

/** The rules that its rows are written for. */
export const corpusAllowlist = 'GET /api/v1/report\nGET /api/v1/report/{id}\nPOST /api/v1/feedback'

export function readCorpusRows(): CorpusRow[] {
  const lines = gunzipSync(readFileSync(corpusFile)).toString('utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as CorpusRow)
}
