"""Small requests that a set-up makes expensive: what `bench attack` sends, by what is attacked."""
