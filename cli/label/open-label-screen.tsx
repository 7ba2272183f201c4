// Opens the screen for labels on this terminal and restores it afterwards.
import { render } from 'ink'
import { discardTypedInput } from '../terminal/discard-typed-input.ts'
import { LabelScreen, type LabelScreenProps } from './label-screen.tsx'

/** Resolves when the person quits. Rethrows an error of the dialogue once the terminal is restored. */
export async function openLabelScreen(props: LabelScreenProps): Promise<void> {
  await discardTypedInput()
  const screen = render(<LabelScreen {...props} />, {
    alternateScreen: true,
    incrementalRendering: true,
    interactive: true,
    patchConsole: false,
  })
  await screen.waitUntilExit()
}
