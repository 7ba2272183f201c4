// Sends observations to a gateway of its own process, and counts what it takes, drops and stores.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { benchCores, startPinnedProgram } from '../proxy-bench/pinned-program.ts'

const executable = process.env.PLATFORM_EXECUTABLE ?? path.resolve(import.meta.dirname, '../../../dist/platform')
const port = 9_025
const base = `http://127.0.0.1:${port}/api/v1/guide`

export type ObservationGateway = {
  /** Posts envelopes in lists, four requests at once. */
  send(count: number, listed: number, text: string): Promise<{ readonly accepted: number; readonly dropped: number }>
  /** Waits until nothing that was accepted is open; what this process has stored since its start. */
  drain(): Promise<number>
  memory(): { readonly now_mb: number; readonly peak_mb: number }
  end(): Promise<void>
}

type IngestCounts = Readonly<Record<'stored' | 'repeats' | 'invalid' | 'failed', number>> & {
  readonly services: readonly { readonly accepted: number }[]
}

export async function startObservationGateway(queue_maxsize: number): Promise<ObservationGateway> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-observations-'))
  const site = path.join(folder, 'site')
  const run = (...words: string[]) => execFileSync(executable, [...words, '--site', site], { encoding: 'utf8' })
  run('init', '--name', 'front', '--tenant', 'bench', '--roles', 'site,gateway', '--yes')
  const env = {
    ...{ GATEWAY_PORT: String(port), GATEWAY_METRICS_LISTEN: '127.0.0.1:0' },
    ...{ SITE_PORT: '0', SITE_METRICS_LISTEN: '127.0.0.1:0', GUIDE_INGEST_QUEUE_MAXSIZE: String(queue_maxsize) },
  }
  const command = [executable, 'serve', '--site', site]
  const program = await startPinnedProgram(benchCores.all, command, port, env, '"platform.ready"')
  const token = run('token', 'mint', '--subject', 'ann', '--roles', 'admin').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const request = async <T>(of: string, init: RequestInit = {}): Promise<T> => {
    const response = await fetch(`${base}${of}`, { ...init, headers })
    if (!response.ok) throw new Error(`${of}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  let next = 0
  return {
    async send(count, listed, text) {
      const receipt = { accepted: 0, dropped: 0 }
      const end = next + count
      const post = async () => {
        while (next < end) {
          const from = next
          next = Math.min(end, from + listed)
          const list = Array.from({ length: next - from }, (_, at) => buildEnvelope(from + at, text))
          const body = JSON.stringify({ observations: list })
          const { accepted, dropped } = await request<typeof receipt>('/observations', { method: 'POST', body })
          receipt.accepted += accepted
          receipt.dropped += dropped
        }
      }
      await Promise.all([post(), post(), post(), post()])
      return receipt
    },
    async drain() {
      for (;;) {
        const { ingest } = await request<{ ingest: IngestCounts }>('/stats')
        const { stored, repeats, invalid, failed, services } = ingest
        const accepted = services.reduce((sum, each) => sum + each.accepted, 0)
        if (stored + repeats + invalid + failed === accepted) return stored
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    },
    memory: () => readMemory(program.pid),
    async end() {
      await program.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const types = ['user_prompt', 'llm_turn', 'tool_output', 'tool_error', 'final_response'] as const

/** Five events a trace, as a turn of a chat has them. */
function buildEnvelope(at: number, text: string) {
  const type = types[at % types.length] ?? 'user_prompt'
  const payload = type.startsWith('tool')
    ? { tool: `tool-${at % 7}`, inputs: { text } }
    : { prompt: text, outcome: 'success' }
  return {
    ...{ event_type: type, trace_id: (Math.floor(at / types.length) + 1).toString(16).padStart(32, '0') },
    ...{ service: 'gateway', timestamp: new Date(1_772_452_800_000 + at).toISOString(), payload },
  }
}

/** Of a program that `taskset` has become. */
function readMemory(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024
  return { now_mb: read('VmRSS'), peak_mb: read('VmHWM') }
}
