// Ids that commands have printed, for the placeholders (`ses_…`, `alpha/…`, `ann-medium/personal-….json`) of later commands.

type Output = { readonly shell: string; readonly text: string }

const placeholder = /([\w./-]*\/)?([a-z]+[_-])?([\w]*)…/g
const digest = /\b[0-9a-f]{96}\b/

/** What stands for the id: `ses_` and the like, the name of a peer before the id of its message, or a digest. */
function patternOf(folder: string, stem: string): RegExp {
  if (stem !== '') return new RegExp(`\\b${stem}[\\w-]+`)
  return folder === '' ? digest : new RegExp(`(?<![\\w/])${folder}[\\w.-]+`)
}

export class PrintedIds {
  readonly #outputs: Output[] = []

  add(shell: string, text: string): void {
    this.#outputs.unshift({ shell, text })
  }

  /**
   * The command with the id that was printed last in place of each placeholder; of several in one output, the first. Names of
   * keys are those of the shell's own, unless it has printed none. `picked`: where the reader has to choose, the pattern of the id
   * of the first placeholder in what was printed, in its first group.
   */
  fill(shell: string, command: string, picked?: RegExp): string {
    let chosen = picked
    return command.replaceAll(placeholder, (whole, folder = '', stem = '') => {
      const own = this.#outputs.filter((output) => output.shell === shell)
      const outputs = stem.endsWith('-') ? [...own, ...this.#outputs] : this.#outputs
      const pattern = chosen ?? patternOf(folder, stem)
      chosen = undefined
      for (const { text } of outputs) {
        const [found, group = found] = pattern.exec(text) ?? []
        if (group !== undefined) return stem === '' ? group : `${folder}${group}`
      }
      throw new Error(`nothing was printed for ${whole} of: ${command}`)
    })
  }
}
