// Writes a small file so that it is whole under its name, or not there.
import { open, rename } from 'node:fs/promises'

export async function writeFileDurably(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}
