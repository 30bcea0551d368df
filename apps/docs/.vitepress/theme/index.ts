import DefaultTheme from 'vitepress/theme';
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has nothing to assign
import './style.css';

export default DefaultTheme;
