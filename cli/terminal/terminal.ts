// What a command may do to the world it was typed in: results to stdout, talk to stderr, questions only to a person.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'

export type Terminal = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person reads stdout. */
  readonly isInteractive: boolean
  /** Whether a person can be asked: both ends of the conversation are a terminal. */
  readonly canAsk: boolean
  readonly hasColour: boolean
  /** Columns of the terminal; 120 when nobody looks. */
  readonly width: number
  /** One line of result, on stdout. */
  print(line: string): void
  /** One line of progress or advice, on stderr. */
  note(line: string): void
  /** Rewrites one line of progress on stderr; nothing without a terminal. An empty text removes it. */
  progress(line: string): void
  /** Undefined when nobody can be asked. */
  ask(question: string): Promise<string | undefined>
  /** The same for what nobody may see: what is typed is not shown. */
  askSecret(question: string): Promise<string | undefined>
  /** All of stdin; undefined when it is a terminal, since nobody was told to type. */
  readInput(): Promise<string | undefined>
}

/** The real one. `NO_COLOR` (any value but empty) and `TERM=dumb` take colours away. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  exitWhenStdoutCloses()
  const canAsk = Boolean(stdin.isTTY && stderr.isTTY)
  return {
    env,
    isInteractive: Boolean(stdout.isTTY),
    canAsk,
    hasColour: Boolean(stdout.isTTY) && !env.NO_COLOR && env.TERM !== 'dumb',
    width: stdout.isTTY ? stdout.columns : 120,
    print: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${stderr.isTTY ? line : stripVTControlCharacters(line)}\n`),
    progress: (line) => void (stderr.isTTY && stderr.write(`\r\u001b[2K${line}`)),
    ask: async (question) => (canAsk ? await promptAnswer(question) : undefined),
    askSecret: async (question) => (canAsk ? await promptSecretAnswer(question) : undefined),
    readInput: async () => (stdin.isTTY ? undefined : await readStdin()),
  }
}

async function promptAnswer(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}

async function promptSecretAnswer(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

/** A token or a small document; 8 MiB is more than any of them. */
async function readStdin(): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of process.stdin) {
    const bytes = Buffer.from(part)
    length += bytes.length
    if (length > 8 * 1024 * 1024) throw new RangeError('the input on stdin is longer than 8 MiB')
    parts.push(bytes)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** `platform audit list | head` is not an error. */
function exitWhenStdoutCloses(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
}
