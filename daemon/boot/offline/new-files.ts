// Results go into what is new: a file or a folder that is there already is never written over.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { asInvoker } from '../acting.ts'
import { Objection } from './objection.ts'

/** For its owner alone. Throws `Objection`: 3 where it is in use, 1 where it cannot be written. */
export function claimFolder(out: string): void {
  asInvoker(() => {
    try {
      mkdirSync(out, { recursive: true, mode: 0o700 })
      if (readdirSync(out).length > 0) throw new Objection(3, `${out} is not empty`, 'name a new folder')
    } catch (error) {
      if (error instanceof Objection) throw error
      throw new Objection(1, `${out} cannot be written: ${(error as NodeJS.ErrnoException).code}`)
    }
  })
}

/** For its owner alone. Throws `Objection`: 3 where there is one already, 1 where none can be written. */
export function saveNew(file: string, text: string): void {
  try {
    asInvoker(() => writeFileSync(file, text, { flag: 'wx', mode: 0o600 }))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new Objection(3, `${file} is there already`, 'name a new file')
    throw new Objection(1, `${file} cannot be written: ${code}`)
  }
}
