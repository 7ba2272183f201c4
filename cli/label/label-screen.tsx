// The screen that asks one pair at a time whether it matches.
import { Box, useApp, useInput, useWindowSize } from 'ink'
import { useRef, useState } from 'react'
import { ColourContext, ToneText } from '../admin/parts/tone-text.tsx'
import type { LabelDialogue, LabelProgress, LabelQuestion } from './label-dialogue.ts'
import { key_hints, labelHelp, readAction, readPressedKeys } from './label-keys.ts'
import { PairView } from './pair-view.tsx'

export type LabelScreenProps = { readonly dialogue: LabelDialogue; readonly title: string; readonly hasColour: boolean }

type LabelView = {
  readonly question: LabelQuestion | undefined
  readonly progress: LabelProgress
  readonly note: string
  readonly isHelp: boolean
}

const readDialogue = (dialogue: LabelDialogue, note = ''): LabelView => {
  return { question: dialogue.current(), progress: dialogue.progress(), note, isHelp: false }
}

export function LabelScreen({ dialogue, title, hasColour }: LabelScreenProps) {
  const { exit } = useApp()
  const { columns, rows } = useWindowSize()
  const [view, setView] = useState<LabelView>(() => readDialogue(dialogue))
  // Keys may arrive faster than renders: each must see the view that the previous one left.
  const currentView = useRef(view)
  useInput((input, key) => {
    for (const name of readPressedKeys(input, key)) {
      try {
        const next = handleLabelKey(dialogue, currentView.current, name)
        if (next === undefined) return exit()
        currentView.current = next
      } catch (error) {
        return exit(error as Error)
      }
    }
    setView(currentView.current)
  })
  // Head, foot, the note above it, and one line that stays free.
  const height = Math.max(1, rows - 4)
  return (
    <ColourContext.Provider value={hasColour}>
      <Box flexDirection="column" width={columns} height={height + 3}>
        <ToneText text={`${title}  ${formatProgress(view)}`} isBold />
        <Box flexDirection="column" height={height} overflow="hidden">
          <LabelBody view={view} columns={columns} height={height} />
        </Box>
        <ToneText text={view.note === '' ? ' ' : view.note} tone="faint" />
        <ToneText text={key_hints} tone="faint" />
      </Box>
    </ColourContext.Provider>
  )
}

function LabelBody({
  view: { question, isHelp },
  columns,
  height,
}: {
  readonly view: LabelView
  readonly columns: number
  readonly height: number
}) {
  if (isHelp) return labelHelp.map((line) => <ToneText key={line} text={line} />)
  if (!question) return <ToneText text="No further pair to ask about. q ends; z takes the last answer back." />
  return <PairView question={question} columns={columns} height={height} />
}

function formatProgress({ progress: { matches, non_matches, unsure, wanted }, question }: LabelView): string {
  const counts = `${matches + non_matches + unsure} of ${wanted}: ${matches} y, ${non_matches} n, ${unsure} unsure`
  return question ? `${counts}  score ${question.score}` : counts
}

/** The view after a key; undefined if the key quits. */
function handleLabelKey(dialogue: LabelDialogue, view: LabelView, key: string): LabelView | undefined {
  const action = readAction(key)
  if (action === 'quit') return undefined
  if (view.isHelp || action === undefined) return { ...view, isHelp: false }
  if (action === 'help') return { ...view, isHelp: true }
  if (action === 'undo')
    return readDialogue(dialogue, dialogue.undo() ? 'took the last answer back' : 'no answer to take back')
  if (!view.question) return view
  dialogue.answer(action)
  return readDialogue(dialogue, notes[action])
}

const notes = { match: 'kept: match', no_match: 'kept: no match', unsure: 'kept: unsure' } as const
