// Prompts for one line on a terminal: the answer, or nothing where the input ends first.
import { createInterface } from 'node:readline/promises'

export type PromptStreams = {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  /** Whether keys are read one by one; default: whether the output is a terminal. */
  readonly terminal?: boolean
}

/** Undefined at the end of the input: Ctrl-D, or a terminal that is gone. Throws at Ctrl-C. */
export async function promptLine(streams: PromptStreams, question: string): Promise<string | undefined> {
  const lines = createInterface({ ...streams })
  const ended = new Promise<undefined>((resolve, reject) => {
    // With a listener readline does not treat Ctrl-C as an end.
    lines.once('SIGINT', () => reject(new Error('interrupted at a prompt')))
    lines.once('close', () => resolve(undefined))
  })
  try {
    return await Promise.race([lines.question(question).catch(endOfQuestion), ended])
  } finally {
    lines.close()
  }
}

/** Ctrl-D aborts the question. */
function endOfQuestion(error: Error): undefined {
  if (error.name !== 'AbortError') throw error
}
