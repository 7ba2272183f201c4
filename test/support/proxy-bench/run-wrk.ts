// Loads a proxy with wrk from many sources, and reads what it counted.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { benchCores } from './pinned-program.ts'

export const wrk_clients = 64

/** Sources take turns, so that no counter is the only one; the last line of the output is what was counted. */
const formatScript = (authorization: string) => `
local heads, at = {}, 0
function init()
  for i = 1, 250 do heads[i] = wrk.format("GET", nil, { ["X-Forwarded-For"] = "198.51.100." .. i, ["Accept"] = "application/json"${authorization} }) end
end
function request()
  at = at % 250 + 1
  return heads[at]
end
function done(summary, latency)
  local bad = summary.errors
  print(string.format('\\n{"requests":%d,"bytes":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"errors":%d}', summary.requests, summary.bytes, summary.duration,
    latency:percentile(50), latency:percentile(99), bad.connect + bad.read + bad.write + bad.status + bad.timeout))
end`

const wrkOutput = z.object({
  requests: z.int(),
  /** Of responses, also of those that were not complete at the end. */
  bytes: z.int(),
  duration_us: z.int(),
  p50_us: z.int(),
  p99_us: z.int(),
  errors: z.int(),
})

export type WrkCounts = z.infer<typeof wrkOutput>

/** Throws when a request was answered with anything but success. `token`: of every request. */
export async function runWrk(folder: string, url: string, seconds: number, token?: string): Promise<WrkCounts> {
  const file = path.join(folder, 'load.lua')
  writeFileSync(file, formatScript(token === undefined ? '' : `, ["Authorization"] = "Bearer ${token}"`))
  const options = ['--timeout', '30s', '-t1', `-c${wrk_clients}`, `-d${seconds}s`, '-s', file, url]
  const wrk = spawn('taskset', ['-c', String(benchCores.around), 'wrk', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  wrk.stdout.on('data', (chunk) => (text += chunk))
  await once(wrk, 'close')
  const found = wrkOutput.parse(JSON.parse(text.trim().split('\n').at(-1) ?? ''))
  if (found.errors > 0) throw new Error(`${url}: ${found.errors} of ${found.requests} requests failed: ${text}`)
  return found
}
