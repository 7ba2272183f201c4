// The terminal of a command: results to stdout, notes to stderr, prompts only to a person.
import { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { promptLine } from './prompt-line.ts'

export type Terminal = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person reads stdout. */
  readonly isInteractive: boolean
  /** Whether a person can answer a prompt: stdin and stderr are a terminal. */
  readonly canPrompt: boolean
  readonly hasColour: boolean
  /** Columns of the terminal; 120 without one. */
  readonly width: number
  /** One line of result, on stdout. */
  print(line: string): void
  /** One line of progress or advice, on stderr. */
  note(line: string): void
  /** Rewrites one line of progress on stderr; nothing without a terminal. An empty text removes it. */
  progress(line: string): void
  /** Prompts for a line; undefined if nobody can answer, or the input ends. */
  prompt(question: string): Promise<string | undefined>
  /** Prompts for a secret, without echo; undefined if nobody can answer, or the input ends. */
  promptSecret(question: string): Promise<string | undefined>
  /** All of stdin; undefined if it is a terminal. */
  readInput(): Promise<string | undefined>
  /** The bytes of stdin, of any length; undefined if it is a terminal. */
  inputBytes(): AsyncIterable<Uint8Array> | undefined
}

/** The terminal of this process. `NO_COLOR` (any value but empty) and `TERM=dumb` disable colours. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  exitWhenStdoutCloses()
  const canPrompt = Boolean(stdin.isTTY && stderr.isTTY)
  return {
    env,
    isInteractive: Boolean(stdout.isTTY),
    canPrompt,
    hasColour: Boolean(stdout.isTTY) && !env.NO_COLOR && env.TERM !== 'dumb',
    width: stdout.isTTY ? stdout.columns : 120,
    print: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${stderr.isTTY ? line : stripVTControlCharacters(line)}\n`),
    progress: (line) => void (stderr.isTTY && stderr.write(`\r\u001b[2K${line}`)),
    prompt: async (question) => (canPrompt ? await promptAnswer(question) : undefined),
    promptSecret: async (question) => (canPrompt ? await promptSecretAnswer(question) : undefined),
    readInput: async () => (stdin.isTTY ? undefined : await readStdin()),
    inputBytes: () => (stdin.isTTY ? undefined : stdin),
  }
}

async function promptAnswer(question: string): Promise<string | undefined> {
  const answer = await promptLine({ input: process.stdin, output: process.stderr }, question)
  if (answer === undefined) process.stderr.write('\n')
  return answer?.trim()
}

async function promptSecretAnswer(question: string): Promise<string | undefined> {
  process.stderr.write(question)
  const silentOutput = new Writable({ write: (_chunk, _encoding, onWritten) => onWritten() })
  try {
    return await promptLine({ input: process.stdin, output: silentOutput, terminal: true }, '')
  } finally {
    process.stderr.write('\n')
  }
}

/** Reads stdin, which holds a token or a small document: at most 8 MiB. */
async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > 8 * 1024 * 1024) throw new RangeError('the input on stdin exceeds the limit of 8 MiB')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** `platform audit list | head` is not an error. */
function exitWhenStdoutCloses(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
}
