// Processor time and peak memory of a program from its start to its end.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

export type ProcessCost = { readonly processor_s: number; readonly peak_mb: number }

/** How often the peak of the memory is read; the system keeps the highest since the start. */
const poll_ms = 20

/** Throws where the program ends with another code than 0. */
export async function measureProcess(program: string, words: readonly string[]): Promise<ProcessCost> {
  // The shell waits for the program, and so knows its user and system time.
  const script = 'TIMEFORMAT="%U %S"; time "$@"'
  const shell = spawn('bash', ['-c', script, 'bash', program, ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  })
  let stderr = ''
  shell.stderr.on('data', (part: Buffer) => (stderr += part.toString()))
  let peak_mb = 0
  const poll = setInterval(() => {
    peak_mb = Math.max(peak_mb, readPeak_mb(shell.pid ?? 0))
  }, poll_ms)
  const exit = await new Promise((resolve, reject) => {
    shell.once('error', reject)
    shell.once('close', resolve)
  })
  clearInterval(poll)
  if (exit !== 0) throw new Error(`${program} ended with ${exit}: ${stderr}`)
  const [user = '', system = ''] = stderr.trimEnd().split('\n').at(-1)?.split(' ') ?? []
  return { processor_s: Number(user) + Number(system), peak_mb }
}

/** Of the child of the shell; 0 where it has none now. */
function readPeak_mb(shell: number): number {
  try {
    const [child = ''] = readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim().split(' ')
    const status = readFileSync(`/proc/${child}/status`, 'utf8')
    return (Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024) / 1e6
  } catch {
    return 0
  }
}
