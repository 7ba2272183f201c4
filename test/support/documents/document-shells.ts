// Shells in which the commands of a document are typed: each has a folder, an environment that lasts, and background jobs.
import { spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { mainFile, nodeProgram } from '../command/run-command-process.ts'
import { repositoryRoot } from '../repository/source-tree.ts'

export type ShellResult = { readonly exit: number; readonly output: string }

/** `platform` in PATH is the packaged executable where there is one, or else the sources. */
export class DocumentShells {
  readonly #dir: string
  readonly #bin: string
  readonly #answered = new Map<string, string>()

  constructor(dir: string) {
    this.#dir = dir
    this.#bin = path.join(dir, 'bin')
    mkdirSync(this.#bin)
    const built = process.env.PLATFORM_EXECUTABLE ?? path.join(repositoryRoot, 'dist/platform')
    const program = path.join(this.#bin, 'platform')
    if (existsSync(built)) symlinkSync(built, program)
    else writeFileSync(program, `#!/bin/sh\nexec ${nodeProgram} --no-warnings ${mainFile} "$@"\n`)
    if (!existsSync(built)) chmodSync(program, 0o755)
  }

  /** The folder of a shell, with `dist/platform` as in a repository. */
  open(shell: string): void {
    const home = path.join(this.#dir, shell)
    if (existsSync(home)) return
    mkdirSync(path.join(home, 'dist'), { recursive: true })
    symlinkSync(path.join(this.#bin, 'platform'), path.join(home, 'dist/platform'))
    mkdirSync(path.join(this.#dir, 'disk'), { recursive: true })
    symlinkSync('../disk', path.join(home, 'disk'))
    writeFileSync(path.join(home, '.environment'), '')
  }

  /** Types the command as it is printed. `ses_…` is the last session that a command has printed. */
  async type(shell: string, printed: string): Promise<ShellResult> {
    const home = path.join(this.#dir, shell)
    const command = printed.replace('ses_…', this.#answered.get('session') ?? 'ses_…')
    const [, peer] = /^platform peers add (\w+) /.exec(command) ?? []
    // `script` gives the command the terminal on which it asks for the fingerprint.
    const typed = peer ? `printf '${await this.#hear(peer)}\\n' | script -qec '${command}' /dev/null` : command
    return await this.#run(home, typed)
  }

  /** What the operator of the peer reads aloud, or the answer to fingerprints that are shown for comparison. */
  async #hear(peer: string): Promise<string> {
    const { exit, output } = await this.#run(path.join(this.#dir, peer), 'platform keys speak')
    return exit === 0 ? (output.match(/\b\d{6}\b/g) ?? []).join(' ') : 'y'
  }

  async #run(home: string, typed: string): Promise<ShellResult> {
    const lines = ['. ./.environment', typed, 'code=$?', 'jobs -p >> .jobs', 'export -p > .environment', 'exit $code']
    const log = path.join(home, '.output')
    const descriptor = openSync(log, 'w')
    const env = {
      PATH: `${this.#bin}:${process.env.PATH}`,
      HOME: home,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    }
    const child = spawn('bash', ['-c', lines.join('\n')], { cwd: home, env, stdio: ['ignore', descriptor, descriptor] })
    closeSync(descriptor)
    const exit = await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
    const output = readFileSync(log, 'utf8')
    const session = /\bses_[0-9a-f]+/.exec(output)?.[0]
    if (session) this.#answered.set('session', session)
    return { exit, output }
  }

  /** Ends the background jobs of all shells. */
  close(shells: readonly string[]): void {
    for (const shell of shells) {
      const file = path.join(this.#dir, shell, '.jobs')
      const jobs = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
      for (const job of jobs) {
        try {
          process.kill(Number(job))
        } catch {
          // It has ended by itself.
        }
      }
    }
  }
}
