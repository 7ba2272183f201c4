// The named checks of a demo: what was expected, and what was observed.

export type DemoCheck = { readonly name: string; readonly isMet: boolean; readonly observed: string }

export class CheckList {
  readonly checks: DemoCheck[] = []
  readonly #printLine: (line: string) => void

  constructor(printLine: (line: string) => void) {
    this.#printLine = printLine
  }

  add(name: string, isMet: boolean, observed: string): void {
    this.checks.push({ name, isMet, observed })
    this.#printLine(`${isMet ? 'ok    ' : 'NOT OK'}  ${name}: ${observed}`)
  }

  get unmet(): readonly DemoCheck[] {
    return this.checks.filter(({ isMet }) => !isMet)
  }
}
