import { calendarTasks } from './calendar.ts'
import { chatTasks } from './chat.ts'
import { fileTasks } from './files.ts'
import { mailTasks } from './mail.ts'
import { multiTasks } from './multi.ts'
import { musicTasks } from './music.ts'
import { noteTasks } from './notes.ts'
import { paymentTasks } from './payments.ts'
import { shopTasks } from './shop.ts'
import { splitTasks } from './splits.ts'
import type { TaskTemplate } from './template.ts'

/** Every task template. Templates are shared by both splits; the values in them are not. */
export const taskTemplates: readonly TaskTemplate[] = [
  ...mailTasks,
  ...calendarTasks,
  ...paymentTasks,
  ...splitTasks,
  ...musicTasks,
  ...noteTasks,
  ...fileTasks,
  ...shopTasks,
  ...chatTasks,
  ...multiTasks,
]
