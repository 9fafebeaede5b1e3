import type { App } from '../app.ts'
import { calendar } from './calendar.ts'
import { chat } from './chat.ts'
import { files } from './files.ts'
import { mail } from './mail.ts'
import { music } from './music.ts'
import { notes } from './notes.ts'
import { payments } from './payments.ts'
import { shop } from './shop.ts'
import { splits } from './splits.ts'

// State types differ from app to app; the world pairs each app with the state that it opened itself.
const erase = <S>(app: App<S>): App<unknown> => app as App<unknown>

export const apps: readonly App<unknown>[] = [
  erase(mail),
  erase(calendar),
  erase(payments),
  erase(splits),
  erase(music),
  erase(notes),
  erase(files),
  erase(shop),
  erase(chat),
]

export const appsByName: ReadonlyMap<string, App<unknown>> = new Map(apps.map((app) => [app.name, app]))
