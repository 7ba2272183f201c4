// Runs commands in this process, where a test may also be the person at the terminal, in folders that are gone afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'vitest'
import { runProgram } from '../../../cli/program/program.ts'
import type { Terminal } from '../../../cli/terminal/terminal.ts'
import { serve } from '../../../daemon/boot/serve.ts'
import { siteFolder } from '../../../daemon/boot/storage/site-folder.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'

export type CommandResult = { readonly exit: number | null; readonly stdout: string; readonly stderr: string }

export type CommandOptions = {
  /** The whole environment of the command: nothing of the test's own is seen. */
  readonly env?: Readonly<Record<string, string>>
  /** Stdin; null for a terminal, empty by default. */
  readonly input?: string | Uint8Array | null
  /** Answers to questions, in order; without them nobody answers. */
  readonly replies?: readonly string[]
  /** Answers to questions for a secret, in order; without them the command has no terminal. */
  readonly secrets?: readonly string[]
}

/** Runs a command to its end. `command-process.ts` runs one as a process of its own. */
export async function runCommand(words: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { env = {}, input = '', secrets, replies = [] } = options
  const [out, err]: [string[], string[]] = [[], []]
  const unused = [...(secrets ?? [])]
  const unusedReplies = [...replies]
  const terminal: Terminal = {
    ...{ env, isInteractive: false, canPrompt: secrets !== undefined, hasColour: false, width: 120 },
    print: (line) => void out.push(`${line}\n`),
    note: (line) => void err.push(`${line}\n`),
    progress: () => undefined,
    prompt: async () => unusedReplies.shift(),
    promptSecret: async () => unused.shift(),
    readInput: async () => (input === null ? undefined : input.toString()),
    inputBytes: () => (input === null ? undefined : Readable.from([Buffer.from(input)])),
  }
  const exit = await runProgram(words, terminal)
  return { exit, stdout: out.join(''), stderr: err.join('') }
}

/** The JSON document that a command printed; the command must have ended well. */
export async function runJsonCommand(words: readonly string[], options: CommandOptions = {}): Promise<Json> {
  const ended = await runCommand([...words, '--json'], options)
  expect(ended, ended.stderr).toMatchObject({ exit: 0 })
  return JSON.parse(ended.stdout) as Json
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every command
export type Json = any

/** Serves a site in this process; resolves once every role answers. `stop` resolves to its log, a JSON object a line. */
export async function serveSite(
  site: string,
  { env = {} }: Pick<CommandOptions, 'env'> = {},
): Promise<{
  /** Of the listener of a role. */
  urlOf(role: string): string
  stop(): Promise<string>
}> {
  const lines: string[] = []
  const running = await serve({ folder: siteFolder(site), env, log: logIntoLines(lines) })
  return {
    urlOf(role) {
      const urls = running.services.find((service) => service.role.name === role)?.urls
      return urls?.find((url) => url.startsWith('http')) ?? ''
    },
    async stop() {
      await running.stop()
      return lines.join('\n')
    },
  }
}

function logIntoLines(lines: string[]): Log {
  const at = (level: string) => (event: string, fields?: Readonly<Record<string, unknown>>) => {
    lines.push(JSON.stringify({ level, event, ...fields }))
  }
  return { debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error') }
}

/** A folder of this test alone. */
export function createScratchFolder(name: string): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(path.join(tmpdir(), `platform-${name}-`))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}
