// Runs a tool of the operating system without output. What it could not do shows in what is left.
import { spawn } from 'node:child_process'

export const search_path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export function runTool([program = '', ...args]: readonly string[]): Promise<void> {
  return new Promise((ended) => {
    const child = spawn(program, args, { stdio: 'ignore', cwd: '/', env: { PATH: search_path } })
    child.once('error', () => ended())
    child.once('close', () => ended())
  })
}
