// One line of text in the colour of what it means, or in none.
import { Text } from 'ink'
import { createContext, useContext } from 'react'
import type { Tone } from '../tables.ts'

/** Whether this terminal wants colours; Ink itself does not ask NO_COLOR. */
export const ColourContext = createContext(false)

const toneColours = { good: 'green', bad: 'red', warn: 'yellow', faint: 'gray' } as const

type ToneTextProps = {
  readonly text: string
  readonly tone?: Tone | undefined
  readonly isBold?: boolean
  readonly isInverse?: boolean
}

/** Cut where it does not fit: a row is one line. */
export function ToneText({ text, tone, isBold = false, isInverse = false }: ToneTextProps) {
  const colour = useContext(ColourContext) && tone ? { color: toneColours[tone] } : {}
  return (
    <Text wrap="truncate-end" bold={isBold} inverse={isInverse} {...colour}>
      {text}
    </Text>
  )
}
