// Opens the screens on this terminal and restores it afterwards.
import { render } from 'ink'
import type { AdminSource } from './admin-snapshot.ts'
import { Admin } from './screens/admin.tsx'

/** Resolves when the person quits. Rethrows an error of a screen once the terminal is restored. */
export async function openAdmin(source: AdminSource, hasColour: boolean): Promise<void> {
  const screen = render(<Admin source={source} hasColour={hasColour} />, {
    alternateScreen: true,
    incrementalRendering: true,
    interactive: true,
    patchConsole: false,
  })
  await screen.waitUntilExit()
}
