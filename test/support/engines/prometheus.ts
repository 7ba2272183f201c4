// A real Prometheus of a test's own, by a configuration file, and the part of its API that tests read.
import path from 'node:path'
import * as z from 'zod'
import { findTools } from '../runner/requires.ts'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

export const prometheusRequirement = findTools('prometheus', 'promtool')

const answer_timeout_ms = 20_000

const apiAnswer = z.object({
  status: z.literal('success'),
  data: z.unknown(),
  warnings: z.array(z.string()).default([]),
})
const labels = z.record(z.string(), z.string())
const vector = z.object({
  result: z.array(z.object({ metric: labels, value: z.tuple([z.number(), z.string()]) })),
})
const ruleHealth = z.looseObject({ name: z.string(), health: z.string(), lastError: z.string().optional() })
const ruleGroups = z.object({ groups: z.array(z.looseObject({ rules: z.array(ruleHealth) })) })

const targets = z.object({ activeTargets: z.array(z.looseObject({ scrapeUrl: z.string(), lastError: z.string() })) })

export type PrometheusSeries = { readonly labels: Readonly<Record<string, string>>; readonly value: number }

export type Prometheus = ServerProcess & {
  /** What an instant query gives now. Throws for a query that Prometheus refuses or warns about. */
  query(expression: string): Promise<PrometheusSeries[]>
  /** The fault of each target that was not scraped. */
  explainScrapes(): Promise<string>
  /** Names of the loaded rules, each with its fault if its last evaluation had one. */
  listRules(): Promise<{ readonly name: string; readonly fault: string | undefined }[]>
  /** Kills it and removes its data. */
  end(): Promise<void>
}

/** Not started yet. Files that the configuration names are relative to its folder. */
export async function prometheus(config: string): Promise<Prometheus> {
  const { folder, dispose } = createEngineFolder('prometheus')
  const [port = 0] = await findFreePorts(1)
  const url = `http://127.0.0.1:${port}`
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ]
  const program = { command: 'prometheus', args, cwd: folder }
  const request = (at: string) => fetch(url + at, { signal: AbortSignal.timeout(answer_timeout_ms) })
  const server = serverProcess(
    { name: 'prometheus', program, log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') },
    async () => (await request('/-/ready')).ok,
  )
  const read = async (at: string) => {
    const text = await (await request(at)).text()
    const { data, warnings } = apiAnswer.parse(JSON.parse(text), { error: () => `${at}: ${text}` })
    if (warnings.length > 0) throw new Error(`${at}: ${warnings.join('; ')}`)
    return data
  }
  return {
    ...server,
    async query(expression) {
      const { result } = vector.parse(await read(`/api/v1/query?query=${encodeURIComponent(expression)}`))
      return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }))
    },
    async explainScrapes() {
      const { activeTargets } = targets.parse(await read('/api/v1/targets'))
      return activeTargets.map(({ scrapeUrl, lastError }) => `${scrapeUrl}: ${lastError}`).join('\n')
    },
    async listRules() {
      const { groups } = ruleGroups.parse(await read('/api/v1/rules'))
      const found = groups.flatMap(({ rules }) => rules)
      return found.map(({ name, health, lastError }) => ({
        name,
        fault: lastError || (health === 'ok' ? undefined : health),
      }))
    },
    async end() {
      await server.kill()
      dispose()
    },
  }
}
