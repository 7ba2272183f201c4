// A site with pipelines whose process runs from sources, dies by SIGKILL at a step or at any moment, and is started again.
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { everyOperation } from '../../../daemon/every-role.ts'
import type { AnyOperation } from '../../../daemon/kernel/operation/operation.ts'
import type { IngestFaultPoint } from '../../../daemon/roles/ingest/fault-points.ts'
import { runCommand } from '../command/run-command.ts'
import { mainFile, NODE_COMPILE_CACHE, nodeProgram } from '../command/run-command-process.ts'
import { type CheckedClient, createCheckedClient } from '../http/checked-client.ts'
import { sendHttpRequest } from '../http/send-http-request.ts'
import { endProcess, type RunningDaemon, startDaemon } from '../site/daemon-process.ts'
import type { ProfileSections } from '../site/test-site.ts'

export type KilledSite = {
  readonly dir: string
  /** The folder of data files of its tenant. */
  readonly files: string
  /** An operator; its requests fail while no process runs. */
  readonly olga: CheckedClient
  /** Each process has a clock that is ahead of that of the one before by `later_ms`: leases of the dead are over. */
  start(point?: IngestFaultPoint, later_ms?: number): Promise<RunningDaemon>
  /** Epoch milliseconds by the clock of the newest process. */
  now(): number
  /** The document that a command about this site prints. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of commands
  runJson(words: readonly string[]): Promise<any>
  /** Ends what runs; the folder stays. */
  stop(): Promise<void>
  end(): Promise<void>
}

/** Longer than a lease. */
const usual_later_ms = 20_000
const preload = path.resolve(import.meta.dirname, 'doomed-process.mjs')
/** See `execArgv` in vitest.config.ts. */
const stableThreads = '--wasm-wrapper-tiering-budget=2147483647'

/** `sections`: of the profile besides. */
export async function createKilledSite(sections: ProfileSections = {}): Promise<KilledSite> {
  const base = mkdtempSync(path.join(tmpdir(), 'killed-'))
  const dir = path.join(base, 'alpha')
  const files = path.join(base, 'files', 'acme')
  mkdirSync(files, { recursive: true })
  const runJson: KilledSite['runJson'] = async (words) => {
    const { exit, stdout, stderr } = await runCommand([...words, '--site', dir, '--json'])
    if (exit !== 0) throw new Error(`platform ${words.join(' ')} ended with ${exit}: ${stderr}`)
    return JSON.parse(stdout)
  }
  await runJson(['init', '--profile', 'demo', '--name', 'alpha', '--tenant', 'acme', '--port-base', '0', '--yes'])
  configure(path.join(dir, 'profile.yaml'), path.dirname(files), sections)
  // The clocks of its processes may be hours ahead.
  const minted = await runJson(['token', 'mint', '--subject', 'olga', '--roles', 'operator', '--ttl', '24h'])
  const daemons = new Set<ChildProcess>()
  let [starts, ahead_ms] = [0, 0]
  let urlOf: Readonly<Record<string, string | undefined>> = {}
  const call = (role: string, ...[method, at, body, sent]: RequestArguments) =>
    sendHttpRequest(urlOf[role] ?? '', method, at, body, sent)
  const stop = async () => {
    await Promise.all([...daemons].map((child) => endProcess(child, 'SIGKILL')))
  }
  return {
    ...{ dir, files, runJson, stop },
    now: () => Date.now() + ahead_ms,
    olga: createCheckedClient({ call }, minted.token, findOperationRole),
    async start(point, later_ms = usual_later_ms) {
      ahead_ms += later_ms
      const env = {
        ...{ PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE, TEST_CLOCK_AHEAD_MS: String(ahead_ms) },
        ...(point === undefined ? {} : { PLATFORM_FAULT_POINT: point }),
      }
      const words = [stableThreads, '--import', preload, mainFile, 'serve', '--site', dir]
      const log = path.join(base, `serve-${++starts}.log`)
      const { daemon, urls } = await startDaemon({ program: nodeProgram, words, log, env }, daemons)
      const found = Object.entries(urls).map(([role, list]) => [role, list.find((each) => each.startsWith('http'))])
      urlOf = Object.fromEntries(found)
      return daemon
    },
    async end() {
      await stop()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

type RequestArguments = Parameters<typeof sendHttpRequest> extends [string, ...infer Rest] ? Rest : never

function findOperationRole(operation: AnyOperation): string {
  return everyOperation.find((each) => each.operation === operation)?.role ?? ''
}

/** Schedules recur each minute at most. */
function configure(file: string, data_folder: string, sections: ProfileSections): void {
  const { consensus: _c, resolution: _r, platform, ...rest } = parse(readFileSync(file, 'utf8'))
  const ingest = {
    ...rest.ingest,
    port: 0,
    data_folder,
    scheduler_tick_minutes: 1,
    landing_settle_s: 0,
    trusted_networks: ['127.0.0.1'],
    ...sections.ingest,
  }
  const intelligence = { ...rest.intelligence, port: 0 }
  const roles = ['site', 'ingest', 'intelligence']
  const profile = { ...rest, ...sections, platform: { ...platform, roles }, ingest, intelligence }
  writeFileSync(file, stringify(profile, { aliasDuplicateObjects: false }))
}
