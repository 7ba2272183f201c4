// Prints text that arrives in pieces, line by line; the line that is not complete yet is shown as progress.
import type { Terminal } from './terminal.ts'

export class StreamedLines {
  readonly #terminal: Pick<Terminal, 'print' | 'progress' | 'width'>
  #open = ''

  constructor(terminal: Pick<Terminal, 'print' | 'progress' | 'width'>) {
    this.#terminal = terminal
  }

  add(text: string): void {
    const lines = (this.#open + text).split('\n')
    this.#open = lines.pop() ?? ''
    if (lines.length > 0) this.#terminal.progress('')
    for (const line of lines) this.#terminal.print(line)
    // A progress line that wraps could not be rewritten.
    this.#terminal.progress(this.#open.slice(-Math.max(1, this.#terminal.width - 1)))
  }

  end(): void {
    this.#terminal.progress('')
    if (this.#open !== '') this.#terminal.print(this.#open)
    this.#open = ''
  }
}
