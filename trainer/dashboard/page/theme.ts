export type Theme = 'system' | 'light' | 'dark'

const key = 'drift-grpo-theme'
const order: readonly Theme[] = ['system', 'light', 'dark']

export const currentTheme = (): Theme => {
  const kept = localStorage.getItem(key)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export const applyTheme = (theme: Theme): void => {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme)
  localStorage.setItem(key, theme)
}

export const nextTheme = (): void => applyTheme(order[(order.indexOf(currentTheme()) + 1) % order.length] ?? 'system')
