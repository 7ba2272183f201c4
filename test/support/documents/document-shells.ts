// Shells in which the commands of a document are typed: each is one bash in a folder, with its environment and its jobs.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { mainFile, NODE_COMPILE_CACHE, nodeProgram } from '../command/run-command-process.ts'
import { repositoryRoot } from '../repository/source-tree.ts'
import { PrintedIds } from './printed-ids.ts'

export type ShellResult = { readonly exit: number; readonly output: string }

/** What is typed on the terminal that a command asks: the lines, in order. */
export type Answers = (shells: DocumentShells) => Promise<readonly string[]> | readonly string[]

type Shell = { readonly bash: ChildProcess; readonly exits: AsyncIterator<string>; typed: number; log: string }

export class DocumentShells {
  readonly #dir: string
  readonly #bin: string
  /** Folders of shells that are not their own: two people at one site. */
  readonly #folders: Readonly<Record<string, string>>
  readonly #shells = new Map<string, Shell>()
  readonly #printed = new PrintedIds()

  /** `platform` in PATH is the packaged executable where there is one, or else the sources. */
  constructor(dir: string, folders: Readonly<Record<string, string>> = {}) {
    this.#dir = dir
    this.#folders = folders
    this.#bin = path.join(dir, 'bin')
    mkdirSync(this.#bin)
    const built = process.env.PLATFORM_EXECUTABLE ?? path.join(repositoryRoot, 'dist/platform')
    const program = path.join(this.#bin, 'platform')
    if (existsSync(built)) symlinkSync(built, program)
    else writeFileSync(program, `#!/bin/sh\nexec ${nodeProgram} --no-warnings ${mainFile} "$@"\n`)
    if (!existsSync(built)) chmodSync(program, 0o755)
    for (const medium of ['disk', 'media']) mkdirSync(path.join(dir, medium))
  }

  folderOf(shell: string): string {
    return path.join(this.#dir, this.#folders[shell] ?? shell)
  }

  /** Starts the shell in its folder, with `dist/platform` as in a repository, and the media `disk` and `media`. */
  open(name: string): void {
    if (this.#shells.has(name)) return
    const home = this.folderOf(name)
    mkdirSync(path.join(home, 'dist'), { recursive: true })
    link(path.join(this.#bin, 'platform'), path.join(home, 'dist/platform'))
    for (const medium of ['disk', 'media']) link(`../${medium}`, path.join(home, medium))
    const env = { PATH: `${this.#bin}:${process.env.PATH}`, HOME: home, NODE_COMPILE_CACHE }
    const bash = spawn('bash', ['--norc'], { cwd: home, env, stdio: ['pipe', 'ignore', 'ignore', 'pipe'] })
    const exits = createInterface({ input: bash.stdio[3] as NodeJS.ReadableStream })[Symbol.asyncIterator]()
    this.#shells.set(name, { bash, exits, typed: 0, log: '' })
  }

  /** Types the command as it is printed, with ids that were printed before in place of its placeholders. */
  async type(
    name: string,
    printed: string,
    { answers, picked }: { readonly answers?: Answers | undefined; readonly picked?: RegExp | undefined } = {},
  ): Promise<ShellResult> {
    const command = this.#printed.fill(name, printed, picked)
    const lines = await answers?.(this)
    const result = await (lines ? this.#runOnTerminal(name, command, lines) : this.run(name, command))
    this.#printed.add(name, result.output)
    return result
  }

  /** Runs a command line that no page shows. */
  async run(name: string, command: string, input = '/dev/null'): Promise<ShellResult> {
    const shell = this.#shells.get(name)
    if (!shell) throw new Error(`the shell ${name} is not open`)
    shell.typed += 1
    shell.log = path.join(this.#dir, `${name}-${shell.typed}.output`)
    writeFileSync(shell.log, '')
    // Stdin of the shell is the pipe of commands, which no command may read.
    shell.bash.stdin?.write(`{ ${command}\n} < ${input} > ${shell.log} 2>&1 3>&-\necho $? >&3\n`)
    const { value, done } = await Promise.race([shell.exits.next(), expireUnending()])
    if (done) throw new Error(`the shell ${name} does not end, or has ended, with: ${command}`)
    return { exit: Number(value), output: readFileSync(shell.log, 'utf8') }
  }

  /** `script` gives the command the terminal on which it asks; each line is typed once its prompt is there. */
  async #runOnTerminal(name: string, command: string, lines: readonly string[]): Promise<ShellResult> {
    const pipe = path.join(this.#dir, `${name}.input`)
    execFileSync('mkfifo', [pipe])
    // For both: to open it for writing alone would wait for the reader.
    const keyboard = openSync(pipe, 'r+')
    const quoted = command.replaceAll(/["$\\]/g, '\\$&')
    const ended = this.run(name, `script -qec "${quoted}" /dev/null`, pipe)
    const isEnded = ended.then(() => true)
    let seen = 0
    for (const line of lines) {
      for (;;) {
        const log = this.#shells.get(name)?.log ?? ''
        const output = stripVTControlCharacters(readFileSync(log, 'utf8'))
        if (/[:\]] *$/.test(output.slice(seen))) {
          seen = output.length
          break
        }
        if (await Promise.race([isEnded, setTimeout(20, false)])) break
      }
      writeSync(keyboard, `${line}\n`)
    }
    const result = await ended
    closeSync(keyboard)
    rmSync(pipe)
    return result
  }

  /** Ends all shells with their background jobs. */
  async close(): Promise<void> {
    for (const { bash } of this.#shells.values()) {
      const end = new Promise((resolve) => bash.once('exit', resolve))
      bash.stdin?.end('jobs=$(jobs -p); [ -z "$jobs" ] || kill $jobs; wait\n')
      await end
    }
  }
}

const command_limit_ms = 60_000

/** The end of a command that waits for something that does not come. */
async function expireUnending(): Promise<IteratorResult<string>> {
  return await setTimeout(command_limit_ms, { done: true, value: undefined } as const, { ref: false })
}

function link(target: string, file: string): void {
  if (!lstatSync(file, { throwIfNoEntry: false })) symlinkSync(target, file)
}
