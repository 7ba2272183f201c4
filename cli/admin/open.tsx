// Opens the screens on this terminal and gives it back as it was.
import { render } from 'ink'
import type { AdminSource } from './admin-snapshot.ts'
import { Admin } from './screens/admin.tsx'

/** Resolves when the person leaves. Throws what a screen threw, after the terminal is as it was. */
export async function openAdmin(source: AdminSource, hasColour: boolean): Promise<void> {
  const screen = render(<Admin source={source} hasColour={hasColour} />, {
    alternateScreen: true,
    incrementalRendering: true,
    interactive: true,
    patchConsole: false,
  })
  await screen.waitUntilExit()
}
